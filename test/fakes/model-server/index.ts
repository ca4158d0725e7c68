export { STREAMS, type ScriptedAnswer } from "./script.ts";
export { startModelServer, type Behaviour, type ModelServer, type ReceivedRequest } from "./server.ts";
