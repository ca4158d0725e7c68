import { channelConformance } from "./conformance.ts";
import { DISCORD_FAULTS, discordLabs } from "./discord.ts";

channelConformance("discord", discordLabs(), {}, DISCORD_FAULTS);
