import { beforeEach } from "vitest";
import { needNgircd } from "../../harness/privileges.ts";
import { channelConformance } from "./conformance.ts";
import { IRC_FAULTS, IRC_LACKS, ircLabs } from "./irc.ts";

beforeEach(needNgircd);

channelConformance("irc", ircLabs(), IRC_LACKS, IRC_FAULTS);
