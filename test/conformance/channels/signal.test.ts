import { channelConformance } from "./conformance.ts";
import { SIGNAL_FAULTS, SIGNAL_LACKS, signalLabs } from "./signal.ts";

channelConformance("signal", signalLabs(), SIGNAL_LACKS, SIGNAL_FAULTS);
