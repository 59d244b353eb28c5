import { setImmediate } from 'node:timers/promises';
import { type Description, type Subject, sentenceOf, toDescription } from '../describe/description.ts';
import { Lookup } from '../describe/lookup.ts';
import type { DescribedRequest, DescribeRequests } from '../describe/requests.ts';
import type { SentenceContext } from '../describe/sentence.ts';
import { invalidField } from '../lib/errors.ts';
import type { App } from './app.ts';

/**
 * A name can lead to another, as a signer to an interface of the contract that its transaction calls. More rounds than this
 * no sentence needs.
 */
const ROUNDS_MAX = 6;

/** Reads names for all requests together, in as many rounds as one leads to another. */
export async function describeRequests(
  app: Pick<App, 'storage' | 'operations' | 'config' | 'interfaces' | 'nameSources' | 'clock'>,
  ...[organization, requests, { isBrief = false } = {}]: Parameters<DescribeRequests>
): Promise<Description[]> {
  const names = new Lookup();
  const nameContext = {
    read: app.storage.read,
    organizationId: organization.id,
    interfaces: app.interfaces,
  };
  const common = { chains: app.config.chains, nowMs: app.clock(), organization };
  const asked = requests.map((request) => ({
    subject: subjectOf(app, request),
    context: contextOf(request, { ...common, names: names.forRequest() }),
  }));
  for (let round = 1; ; round += 1) {
    const made: Description[] = [];
    for (const { subject, context } of asked) {
      made.push(toDescription(subject, sentenceOf(subject, context), isBrief));
      // A large transaction takes a while to read, and others wait.
      if (asked.length > 1) await setImmediate();
    }
    if (!(await names.load(nameContext, app.nameSources)) || round === ROUNDS_MAX) return made;
  }
}

const contextOf = (
  asked: DescribedRequest,
  common: Omit<SentenceContext, 'proposerId' | 'isDone'>,
): SentenceContext => ({
  ...common,
  proposerId: 'activity' in asked ? asked.activity.proposerId : undefined,
  isDone: 'activity' in asked && asked.activity.status === 'ACTIVITY_STATUS_COMPLETED',
});

function subjectOf({ operations }: Pick<App, 'operations'>, asked: DescribedRequest): Subject {
  if ('request' in asked) {
    const { type, parameters } = asked.request;
    const served = operations.find(type);
    if (served === undefined) {
      throw invalidField('request.type', 'must be a type of activity that this service executes');
    }
    return { type, operation: served.operation, parameters: served.version.decode(parameters) };
  }
  const { id, type, parameters } = asked.activity;
  const served = operations.find(type);
  return {
    activityId: id,
    type,
    operation: served?.operation,
    parameters: served === undefined ? parameters : storedParameters(served.version, parameters),
  };
}

type Version = NonNullable<ReturnType<App['operations']['find']>>['version'];

/** What was stored may lack what a version is made of; then it stays as it is. */
function storedParameters(version: Version, stored: unknown): unknown {
  try {
    return version.decode(stored);
  } catch {
    return upgraded(version, stored);
  }
}

function upgraded(version: Version, stored: unknown): unknown {
  try {
    return version.upgrade(stored);
  } catch {
    return stored;
  }
}
