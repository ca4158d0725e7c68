export { channelIngressRoutes, fanInChannelIngressLifecycles, resolveStableChannelMessageIngress } from "../newer/ingress.ts";
