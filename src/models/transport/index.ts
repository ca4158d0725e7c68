export { streamCall, type Fetch, type ResponseFacts, type StreamOptions } from "./stream.ts";
export { errorFacts } from "./error-body.ts";
export { retryHint } from "./retry-hint.ts";
export { askJson, type JsonAnswer, type JsonRequest } from "./json.ts";
