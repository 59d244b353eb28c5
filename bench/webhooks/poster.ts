// The floor: the same requests to the same receivers by bare node:http over kept connections, in a process of its own.
// Nothing is read, checked or written down, and nothing is signed unless it is asked for.
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerParent } from '../child.ts';
import { nowUs, quantile } from './clock.ts';
import type { Sample } from './receiver-process.ts';

export interface Posting {
  readonly urls: readonly string[];
  /** A request of the service; each gets an event id of its own. */
  readonly sample: Sample;
  /** To each receiver. */
  readonly connections: number;
  readonly posts: number;
  /** As many as it can, if undefined. */
  readonly perSecond: number | undefined;
  /** Whether each is signed as a delivery is, with a key at hand. */
  readonly isSigned?: boolean;
}

export interface Posted {
  /** From writing a request to having its answer. */
  readonly p50Us: number;
  readonly p99Us: number;
  /** When each was written, by event id. */
  readonly sentUs: ReadonlyMap<string, number>;
}

type Header = readonly [name: string, value: string];

const { privateKey } = generateKeyPairSync('ed25519');

answerParent(async ({ urls, sample, connections, posts, perSecond, isSigned = false }: Posting): Promise<Posted> => {
  const agent = new Agent({ keepAlive: true });
  const headers = headersOf(sample);
  const body = sample.body;
  const ids = Array.from({ length: posts }, () => randomUUID());
  const headerLists = ids.map((id) => headers.flatMap(([name, value]) => [name, isEventId(name) ? id : value]));
  const sentUs = new Map<string, number>();
  const latencies: number[] = [];
  const post = async (url: URL, position: number): Promise<void> => {
    const sentAtUs = nowUs();
    sentUs.set(ids[position] as string, sentAtUs);
    if (isSigned) sign(null, Buffer.from(`v1.ed25519.key.${sentAtUs}.${ids[position]}.${body}`), privateKey);
    await exchange(agent, url, headerLists[position] as string[], body);
    latencies.push(nowUs() - sentAtUs);
  };
  const targets = urls.map((url) => new URL(url));
  if (perSecond !== undefined) {
    const startedAt = performance.now();
    const underWay: Promise<void>[] = [];
    for (let position = 0; position < posts; position += 1) {
      await sleep(startedAt + (position * 1000) / perSecond - performance.now());
      underWay.push(post(targets[position % targets.length] as URL, position));
    }
    await Promise.all(underWay);
  } else {
    const each = Math.ceil(posts / targets.length);
    await Promise.all(
      targets.map(async (url, index) => {
        const mine = Array.from({ length: Math.min(each, posts - index * each) }, (_, offset) => index * each + offset);
        const queue = mine.values();
        const work = async (): Promise<void> => {
          for (const position of queue) await post(url, position);
        };
        await Promise.all(Array.from({ length: connections }, () => work()));
      }),
    );
  }
  agent.destroy();
  return { p50Us: quantile(latencies, 0.5), p99Us: quantile(latencies, 0.99), sentUs };
});

const exchange = (agent: Agent, url: URL, headers: string[], body: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const { hostname: host, port, pathname: path } = url;
    request({ agent, method: 'POST', host, port, path, headers }, (response) => {
      response.on('end', resolve).resume();
    })
      .on('error', reject)
      .end(body);
  });

/** Without what the client writes itself. */
const headersOf = ({ head }: Sample): Header[] =>
  head
    .split('\r\n')
    .slice(1)
    .map((line): Header => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    })
    .filter(([name]) => name.toLowerCase() !== 'connection');

const isEventId = (name: string): boolean => name.toLowerCase() === 'x-service-event-id';
