/** The host's TypeBox, also for plugins that know it as `@sinclair/typebox`. */
export * from "typebox";
// oxlint-disable-next-line import/no-default-export
export { default } from "typebox";
