export { createPluginStateErrorReporter } from "../values/small.ts";
