import { channelConformance } from "./conformance.ts";
import { WHATSAPP_FAULTS, WHATSAPP_LACKS, whatsappLabs } from "./whatsapp.ts";

channelConformance("whatsapp", whatsappLabs(), WHATSAPP_LACKS, WHATSAPP_FAULTS);
