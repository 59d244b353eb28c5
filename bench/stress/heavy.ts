// A client that sends what is as large as may be, in a process of its own. Requests are made as they are sent: together they would take hundreds of megabytes.
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerParent } from '../child.ts';
import { prepareRequests, type Workload } from '../load/requests.ts';
import { Wire } from './wire.ts';

export interface Order {
  readonly port: number;
  /** How many are sent at once. */
  readonly clients: number;
  readonly requests: number;
  /** In turn. */
  readonly workloads: readonly Workload[];
  readonly secondsMax: number;
}

/** Answers by status, with the error code where there is one; 0 is a connection that ended without one. */
export type Report = Readonly<Record<string, number>>;

// It stands for another machine, and must not take the processor from the service.
setPriority(constants.priority.PRIORITY_LOW);

answerParent(async ({ port, clients, requests, workloads, secondsMax }: Order): Promise<Report> => {
  const answers: Record<string, number> = {};
  const endsAt = performance.now() + secondsMax * 1000;
  let next = 0;
  const client = async (): Promise<void> => {
    const wire = new Wire(port);
    while (next < requests && performance.now() < endsAt) {
      const workload = workloads[next % workloads.length];
      next += 1;
      if (workload === undefined) break;
      const [request] = prepareRequests(workload, 1);
      if (request === undefined) break;
      const { status, errorCode, retryAfterSeconds } = await wire.send(request);
      const answer = errorCode === undefined ? String(status) : `${status} ${errorCode}`;
      answers[answer] = (answers[answer] ?? 0) + 1;
      if (retryAfterSeconds > 0) await sleep(retryAfterSeconds * 1000);
    }
    wire.close();
  };
  await Promise.all(Array.from({ length: clients }, client));
  return answers;
});
