import { channelConformance } from "./conformance.ts";
import { discordLabs } from "./discord.ts";

channelConformance("discord", discordLabs());
