import { openStore } from "../../src/store/index.ts";
import { storeConformance } from "./store.ts";

storeConformance("sqlite", (stateDir, clock) => openStore({ stateDir, clock }));
