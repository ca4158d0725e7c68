/** Types that plugins and the modules share. Nothing here exists at run time. */
export type * from "./channel/index.ts";
export type * from "./command.ts";
export type * from "./diagnostics.ts";
export type * from "./environment.ts";
export type * from "./gateway-method.ts";
export type * from "./host-config.ts";
export type * from "./message-context.ts";
export type * from "./provider.ts";
export type * from "./reply.ts";
export type * from "./service.ts";
export type * from "./tool.ts";
