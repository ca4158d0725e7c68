export { detectBinary, formatCliCommand } from "../environment.ts";
export { formatDocsLink } from "../text.ts";
