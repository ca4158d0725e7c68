import { channelConformance } from "./conformance.ts";
import { COURIER_FAULTS, COURIER_LACKS, courierLabs } from "./courier.ts";

channelConformance("courier", courierLabs(), COURIER_LACKS, COURIER_FAULTS);
