import { channelConformance } from "./conformance.ts";
import { IMESSAGE_FAULTS, IMESSAGE_LACKS, imessageLabs } from "./imessage.ts";

channelConformance("imessage", imessageLabs(), IMESSAGE_LACKS, IMESSAGE_FAULTS);
