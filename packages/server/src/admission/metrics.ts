import { Counter, Gauge, type Registry } from 'prom-client';
import type { Admission } from './admission.ts';
import type { AdmissionObserver } from './refused.ts';

/** Counts what admission turned away. */
export function countRefusals(registry: Registry): AdmissionObserver {
  const refused = new Counter({
    name: 'custos_admission_refused_total',
    help: 'Connections, bodies and requests turned away, by stage (connection, body, client, tenant, outside, large) and reason (busy, share).',
    labelNames: ['stage', 'reason'],
    registers: [registry],
  });
  const dropped = new Counter({
    name: 'custos_admission_dropped_total',
    help: 'Requests whose client left before they were begun, by stage.',
    labelNames: ['stage'],
    registers: [registry],
  });
  return {
    refused: (stage, reason) => refused.inc({ stage, reason }),
    dropped: (stage) => dropped.inc({ stage }),
  };
}

/** Shows how full everything is; looked at only when somebody asks. */
export function showQueues(registry: Registry, { connections, bodies, gates }: Admission): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
  const byStage = (
    name: string,
    help: string,
    read: (stage: 'clients' | 'tenants' | 'outside' | 'large') => number,
  ): void => {
    new Gauge({
      name,
      help,
      labelNames: ['stage'],
      registers: [registry],
      collect() {
        this.set({ stage: 'client' }, read('clients'));
        this.set({ stage: 'tenant' }, read('tenants'));
        this.set({ stage: 'outside' }, read('outside'));
        this.set({ stage: 'large' }, read('large'));
      },
    });
  };
  gauge('custos_admission_connections', 'Open connections.', () => connections.count);
  gauge('custos_admission_buffered_bytes', 'Bytes of bodies whose requests have not started.', () => bodies.bytes);
  gauge('custos_admission_arriving', 'Requests whose body is on its way.', () => bodies.arriving);
  byStage('custos_admission_in_flight', 'Requests past a gate: being verified, or running.', (s) => gates[s].running);
  byStage('custos_admission_waiting', 'Requests that wait at a gate.', (s) => gates[s].waiting);
}
