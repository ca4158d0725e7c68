import { channelConformance } from "./conformance.ts";
import { mattermostLabs } from "./mattermost.ts";

channelConformance("mattermost", mattermostLabs());
