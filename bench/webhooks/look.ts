// What the dispatcher asks the database to find something to send, by the service's own code in a process of its own.
import { WebhookReader } from '../../packages/server/src/domains/webhooks/store/webhook-reader.ts';
import { answerParent } from '../child.ts';
import type { Counted } from '../load/generator.ts';
import { openStopped } from '../storage.ts';
import { nowUs, quantile } from './clock.ts';

export interface Looking {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly seconds: number;
  /** How many deliveries wait, all for one endpoint. */
  readonly expected: number;
}

const LANES_MAX = 256;
const BATCH = { fresh: 48, retries: 16 };

answerParent(async ({ dataDir, databaseUrl, seconds, expected }: Looking): Promise<Counted> => {
  const storage = await openStopped({ dataDir, databaseUrl });
  const webhooks = storage.read(WebhookReader);
  const latencies: number[] = [];
  const startedAtUs = nowUs();
  const endsAtUs = startedAtUs + seconds * 1e6;
  let from = startedAtUs;
  while (from < endsAtUs) {
    const nowMs = Date.now();
    const [queue] = await webhooks.dueQueues(nowMs, LANES_MAX);
    const found = queue && (await webhooks.batch(queue.organizationId, queue.endpointId, nowMs, BATCH)).due;
    if (found?.length !== expected) throw new Error(`${found?.length} of ${expected} deliveries were found`);
    const at = nowUs();
    latencies.push(at - from);
    from = at;
  }
  await storage.close();
  return {
    requests: latencies.length,
    seconds: (from - startedAtUs) / 1e6,
    p50Us: quantile(latencies, 0.5),
    p99Us: quantile(latencies, 0.99),
    sample: '',
  };
});
