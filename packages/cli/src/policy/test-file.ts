import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  type ActivityFacts,
  type Approval,
  activityType,
  createExpressionCache,
  type Member,
  type PolicySet,
  preparePolicies,
} from '@custos/server/policy';
import { CONTRACT_INTERFACE_TYPES, type ContractInterface, checkContractInterface } from '@custos/server/policy-facts';
import { type Governed, namespacesIn, readContext, readParams } from './context.ts';
import { type Cursor, collect, type FileProblem, openFile, required } from './cursor.ts';
import { type Expectation, readExpectation } from './expectation.ts';
import { readKeys, type TestKeys } from './keys.ts';
import { findUser, readApproval, readOrganization, type TestOrganization } from './organization.ts';
import { type NamedPolicy, readPolicies, requireCompiling } from './policies.ts';
import { readRequest } from './request.ts';

export interface TestCase {
  readonly name: string;
  readonly cursor: Cursor;
  readonly activity: ActivityFacts;
  /** The namespaces of each element as the case spells them out; undefined when they come from a whole request. */
  readonly spelledOut: readonly (readonly string[])[] | undefined;
  readonly governed: Governed | undefined;
  /** The submission first. */
  readonly approvals: readonly Approval[];
  readonly nowMs: number;
  readonly expected: Expectation;
}

/** A file of policies and of what they should decide. */
export interface TestFile {
  readonly file: string;
  readonly policies: readonly NamedPolicy[];
  readonly policySet: PolicySet;
  readonly organization: TestOrganization;
  readonly cases: readonly TestCase[];
}

export const TEST_FILE_FIELDS = ['organization', 'policies', 'interfaces', 'wallets', 'privateKeys', 'cases'] as const;

const CASE_FIELDS = [
  'name',
  'activity',
  'params',
  'context',
  'contexts',
  'parameters',
  'subject',
  'submittedBy',
  'approvedBy',
  'at',
  'expect',
] as const;

/** For cases that depend on no time. */
const DEFAULT_NOW_MS = Date.UTC(2000, 0, 1);

/** What all cases of a file share. */
interface Surroundings {
  readonly organization: TestOrganization;
  readonly policies: readonly NamedPolicy[];
  readonly interfaces: readonly ContractInterface[];
  readonly keys: TestKeys;
}

/** Reads a test file. Answers what is wrong with it, and nothing else, if anything is. */
export function readTestFile(file: string): TestFile | readonly FileProblem[] {
  const problems: FileProblem[] = [];
  const [read] = collect([file], problems, () => {
    const cursor = openFile(file);
    const members = cursor.members('a test file', TEST_FILE_FIELDS);
    const cache = createExpressionCache();
    const found = readPolicies(required(cursor, members, 'policies'), file, problems);
    requireCompiling(found, cache, problems);
    const policies = found.map(({ policy }) => policy);
    const surroundings: Surroundings = {
      organization: readOrganization(required(cursor, members, 'organization')),
      policies,
      interfaces: readInterfaces(members.interfaces, file),
      keys: readKeys(members.wallets, members.privateKeys),
    };
    const listed = required(cursor, members, 'cases');
    const items = listed.items('"cases"');
    if (items.length === 0) listed.fail('there is no case');
    // A case may name a policy that was itself refused.
    const cases = problems.length > 0 ? [] : readCases(items, surroundings, problems);
    return {
      file,
      policies,
      policySet: preparePolicies(policies, cache),
      organization: surroundings.organization,
      cases,
    };
  });
  return read === undefined || problems.length > 0 ? problems : read;
}

function readCases(items: readonly Cursor[], surroundings: Surroundings, problems: FileProblem[]): TestCase[] {
  const names = new Set<string>();
  return collect(items, problems, (item, index) => {
    const unnamed = item.within(`case ${index + 1}`);
    const name = required(unnamed, Object.fromEntries(unnamed.entries('a case')), 'name').text('"name"');
    const cursor = item.within(`case '${name}'`);
    if (names.has(name)) cursor.fail('there is another case of this name');
    names.add(name);
    return readCase(name, cursor, surroundings);
  });
}

function readCase(name: string, cursor: Cursor, surroundings: Surroundings): TestCase {
  const members = cursor.members('a case', CASE_FIELDS);
  const { users } = surroundings.organization;
  const submission = readApproval(required(cursor, members, 'submittedBy'), users);
  const votes = (members.approvedBy?.items('"approvedBy"') ?? []).map((item) => readApproval(item, users));
  return {
    name,
    cursor,
    ...readActivity(cursor, members, surroundings),
    approvals: [submission, ...votes],
    nowMs: readTime(cursor, members.at, surroundings.policies),
    expected: readExpectation(required(cursor, members, 'expect'), surroundings.policies),
  };
}

type CaseMembers = Partial<Record<(typeof CASE_FIELDS)[number], Cursor>>;

function readActivity(
  owner: Cursor,
  members: CaseMembers,
  surroundings: Surroundings,
): Pick<TestCase, 'activity' | 'spelledOut' | 'governed'> {
  const cursor = required(owner, members, 'activity');
  const type = cursor.text('"activity"');
  const row = activityType(type) ?? cursor.fail(`there is no activity type ${JSON.stringify(type)}`);
  if (row.governedBy !== 'policy') {
    if (row.governedBy === 'none') cursor.fail(`no policy decides about ${type}`);
    for (const name of ['params', 'context', 'contexts', 'parameters', 'subject'] as const) {
      members[name]?.fail(`only the root quorum decides about ${type}, whatever it says`);
    }
    return { activity: { governedBy: 'rootQuorum', type }, spelledOut: undefined, governed: undefined };
  }
  const { governedBy, kind, resource, action } = row;
  const { parameters, context, contexts, params } = members;
  if (context !== undefined && contexts !== undefined) contexts.fail('give "context" or "contexts", not both');
  if (parameters !== undefined) {
    (params ?? context ?? contexts)?.fail('it follows from "parameters"');
    const facts = readRequest(parameters, row, surroundings.keys, surroundings.interfaces);
    const activity = { governedBy, type, kind, resource, action, ...facts, ...readSubject(members, surroundings) };
    return { activity, spelledOut: undefined, governed: row };
  }
  const given = contexts === undefined ? (context === undefined ? [] : [context]) : contexts.items('"contexts"');
  if (contexts !== undefined && given.length === 0) contexts.fail('a request has at least one element');
  const elements = given.map((item) => readContext(item, row));
  return {
    activity: {
      governedBy,
      type,
      kind,
      resource,
      action,
      params: readParams(params, row),
      elements: elements.length === 0 ? [{}] : elements,
      ...readSubject(members, surroundings),
    },
    spelledOut: given.length === 0 ? [[]] : given.map((item) => namespacesIn(item.value)),
    governed: row,
  };
}

/** Whose account the activity is about, which its owner may manage without a policy. */
function readSubject(
  { subject, params }: CaseMembers,
  { organization }: Surroundings,
): { readonly subjectUserId?: string } {
  if (subject !== undefined) return { subjectUserId: findUser(subject, organization.users).id };
  const { user_id: userId } = (params?.value ?? {}) as { readonly user_id?: string };
  return userId === undefined ? {} : { subjectUserId: userId };
}

const TIME =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})$/;

function readTime(owner: Cursor, cursor: Cursor | undefined, policies: readonly NamedPolicy[]): number {
  if (cursor === undefined) {
    const timed = policies.find(({ time }) => time !== '');
    return timed === undefined ? DEFAULT_NOW_MS : owner.fail(`"at" is missing, and policy '${timed.name}' has a time`);
  }
  const text = cursor.text('"at"');
  const [, year, month, day] = (TIME.exec(text) ?? []).map(Number);
  const nowMs = Date.parse(text);
  const isDate = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day)).getUTCDate() === day;
  if (!isDate || Number.isNaN(nowMs) || nowMs < 0) {
    return cursor.fail('"at" is a time from 1970 on with its offset, such as 2025-03-31T09:00:00+02:00');
  }
  return nowMs;
}

/** Interfaces as they are uploaded: as JSON in place, as its text, or as the name of a file that holds it. */
function readInterfaces(cursor: Cursor | undefined, file: string): ContractInterface[] {
  return (cursor?.items('"interfaces"') ?? []).map((item) => {
    const members = item.members('an interface', ['type', 'address', 'interface', 'file']);
    const type = required(item, members, 'type').oneOf('"type"', CONTRACT_INTERFACE_TYPES);
    const address = required(item, members, 'address').text('"address"');
    if ((members.interface === undefined) === (members.file === undefined)) {
      return item.fail('give "interface" or "file"');
    }
    const text = members.file === undefined ? interfaceText(members.interface) : readNamed(members.file, file);
    try {
      return checkContractInterface(type, address, text);
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'ApiError') throw error;
      return item.fail(`the service would refuse it: ${error.message}`);
    }
  });
}

const interfaceText = (cursor: Cursor | undefined): string =>
  typeof cursor?.value === 'string' ? cursor.value : JSON.stringify(cursor?.value);

function readNamed(cursor: Cursor, file: string): string {
  const named = resolve(dirname(file), cursor.text('"file"'));
  try {
    return readFileSync(named, 'utf8');
  } catch {
    return cursor.fail(`${named} cannot be read`);
  }
}

/** The user that an id belongs to, as cases call it. */
export const userName = (users: ReadonlyMap<string, Member>, userId: string): string =>
  [...users].find(([, { id }]) => id === userId)?.[0] ?? userId;
