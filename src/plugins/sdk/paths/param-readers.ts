export { readNumberParam, readReactionParams, readStringArrayParam, readStringParam } from "../params.ts";
