/** Types of the SDK that are members of others there, under names of their own. */
import type { ChannelGatewayContext, ChannelPlugin } from "openclaw/plugin-sdk";

export type ChannelInbound = NonNullable<ChannelGatewayContext["inbound"]>;
export type ChannelInboundEvent = Parameters<ChannelInbound["accept"]>[0];
export type ChannelInboundResult = Awaited<ReturnType<ChannelInbound["accept"]>>;
export type ChannelInboundMedia = NonNullable<ChannelInboundEvent["media"]>[number];
export type ChannelInboundSender = ChannelInboundEvent["sender"];
export type Preview = NonNullable<ReturnType<NonNullable<ChannelPlugin["preview"]>["open"]>>;
export type Config = Parameters<ChannelPlugin["config"]["listAccountIds"]>[0];
