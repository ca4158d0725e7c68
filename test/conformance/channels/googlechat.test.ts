import { channelConformance } from "./conformance.ts";
import { GOOGLECHAT_FAULTS, GOOGLECHAT_LACKS, googlechatLabs } from "./googlechat.ts";

channelConformance("googlechat", googlechatLabs(), GOOGLECHAT_LACKS, GOOGLECHAT_FAULTS);
