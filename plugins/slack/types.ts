/** Types of the host that the SDK gives by way of others. */
import type { ChannelGatewayContext, ChannelPlugin } from "openclaw/plugin-sdk";

export type ChannelInboundEvent = Parameters<NonNullable<ChannelGatewayContext["inbound"]>["accept"]>[0];
export type ChannelInboundMedia = NonNullable<ChannelInboundEvent["media"]>[number];
export type HostConfig = ChannelGatewayContext["cfg"];
export type Preview = NonNullable<ReturnType<NonNullable<ChannelPlugin["preview"]>["open"]>>;
export type ReplyToMode = ReturnType<NonNullable<NonNullable<ChannelPlugin["threading"]>["resolveReplyToMode"]>>;
export type { RichText } from "openclaw/plugin-sdk/rich-text";
