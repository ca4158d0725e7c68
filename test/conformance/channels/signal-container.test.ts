import { channelConformance } from "./conformance.ts";
import { SIGNAL_CONTAINER_FAULTS, SIGNAL_CONTAINER_LACKS, signalContainerLabs } from "./signal.ts";

channelConformance("signal in its container", signalContainerLabs(), SIGNAL_CONTAINER_LACKS, SIGNAL_CONTAINER_FAULTS);
