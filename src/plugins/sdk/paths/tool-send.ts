export { extractToolSend } from "../params.ts";
