import { channelConformance } from "./conformance.ts";
import { slackLabs } from "./slack.ts";

channelConformance("slack", slackLabs());
