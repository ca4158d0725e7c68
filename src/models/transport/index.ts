export { streamCall, type Fetch, type ResponseFacts, type StreamOptions } from "./stream.ts";
export { askJson, type JsonAnswer, type JsonRequest } from "./json.ts";
