import { channelConformance } from "./conformance.ts";
import { MATTERMOST_FAULTS, mattermostLabs } from "./mattermost.ts";

channelConformance("mattermost", mattermostLabs(), {}, MATTERMOST_FAULTS);
