/** The host's WebSocket. */
export * from "ws";
// oxlint-disable-next-line import/no-default-export
export { default } from "ws";
