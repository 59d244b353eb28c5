import type { Config } from '../config/config.ts';
import { Bodies, type Body } from './bodies.ts';
import { Connections } from './connections.ts';
import { Gate } from './gate.ts';
import { type AnswerTo, type Gates, Passage } from './passage.ts';
import type { AdmissionObserver } from './refused.ts';

const MIB = 1024 * 1024;

/** Everything that bounds what clients can make this process hold and do at once. */
export class Admission {
  readonly connections: Connections;
  readonly bodies: Bodies;
  readonly gates: Gates;
  readonly #nowMs: () => number;

  constructor(
    config: Pick<Config, 'admitConnections' | 'admitRequests' | 'admitBodyMib' | 'admitWaitMs'>,
    observe: AdmissionObserver,
    nowMs: () => number = () => performance.now(),
  ) {
    const gate = (stage: string): Gate =>
      new Gate({ stage, slots: config.admitRequests, waitMs: config.admitWaitMs, nowMs, observe });
    this.connections = new Connections({ max: config.admitConnections, nowMs, observe });
    this.bodies = new Bodies({ bytesMax: config.admitBodyMib * MIB, nowMs, observe });
    this.gates = { clients: gate('client'), tenants: gate('tenant') };
    this.#nowMs = nowMs;
  }

  /** The way in of a request that has arrived whole. */
  passage(client: string, answerTo: AnswerTo, body: Body | undefined): Passage {
    return new Passage(this.gates, client, answerTo, body, this.#nowMs());
  }
}
