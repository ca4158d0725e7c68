export { createPluginStateErrorReporter } from "../newer/small.ts";
