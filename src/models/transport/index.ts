export { streamCall, type Fetch, type ResponseFacts, type StreamOptions } from "./stream.ts";
