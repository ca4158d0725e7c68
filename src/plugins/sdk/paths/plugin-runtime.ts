export { getGlobalHookRunner, getPluginRuntimeGatewayRequestScope } from "../values/small.ts";
