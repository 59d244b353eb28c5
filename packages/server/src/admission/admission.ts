import type { Config } from '../config/config.ts';
import { Bodies, type Body } from './bodies.ts';
import { Connections } from './connections.ts';
import { Gate } from './gate.ts';
import { type AnswerTo, type Gates, KnownTenants, Passage } from './passage.ts';
import type { AdmissionObserver } from './refused.ts';

const MIB = 1024 * 1024;
/** At least so many wait for others at once, which costs this process little. */
const OUTSIDE_MIN = 32;
/** One that is large takes as much of it as so many others. */
const LARGE_WEIGHT = 32;

/** Everything that bounds what clients can make this process hold and do at once. */
export class Admission {
  readonly connections: Connections;
  readonly bodies: Bodies;
  readonly gates: Gates;
  /** Milliseconds that only go forward. */
  readonly nowMs: () => number;

  constructor(
    config: Pick<Config, 'admitConnections' | 'admitRequests' | 'admitBodyMib' | 'admitWaitMs'>,
    observe: AdmissionObserver,
    nowMs: () => number = () => performance.now(),
  ) {
    const gate = (stage: string, slots = config.admitRequests): Gate =>
      new Gate({ stage, slots, waitMs: config.admitWaitMs, nowMs, observe });
    this.connections = new Connections({ max: config.admitConnections, nowMs, observe });
    this.bodies = new Bodies({ bytesMax: config.admitBodyMib * MIB, nowMs, observe });
    this.gates = {
      clients: gate('client'),
      tenants: gate('tenant'),
      outside: gate('outside', Math.max(OUTSIDE_MIN, config.admitRequests)),
      large: gate('large', Math.max(1, Math.round(config.admitRequests / LARGE_WEIGHT))),
      known: new KnownTenants(),
    };
    this.nowMs = nowMs;
  }

  /** The way in of a request that has arrived whole. */
  passage(client: string, answerTo: AnswerTo, body: Body | undefined, sinceMs = this.nowMs()): Passage {
    return new Passage(this.gates, client, answerTo, body, sinceMs);
  }
}
