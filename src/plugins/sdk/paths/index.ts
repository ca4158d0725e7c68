/** `openclaw/plugin-sdk`. */
export * from "../index.ts";
