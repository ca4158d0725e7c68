export { channelIngressRoutes, fanInChannelIngressLifecycles, resolveStableChannelMessageIngress } from "../access/ingress.ts";
