/** The host's zod: the one that SDK schemas are made with. */
export * from "zod";
// oxlint-disable-next-line import/no-default-export
export { z as default } from "zod";
