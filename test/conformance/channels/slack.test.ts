import { channelConformance } from "./conformance.ts";
import { SLACK_FAULTS, slackLabs } from "./slack.ts";

channelConformance("slack", slackLabs(), {}, SLACK_FAULTS);
