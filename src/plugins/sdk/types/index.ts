/** Types of the plugin API. */
export type * from "./api.ts";
export type * from "./definition.ts";
export type * from "./runtime.ts";
export type * from "./runtime-channel.ts";
export type * from "./runtime-media.ts";
export type * from "./runtime-newer.ts";
export type * from "./session.ts";
