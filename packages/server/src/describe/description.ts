import { toRfc3339 } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { fieldsOf, toWords } from './fields.ts';
import type { Risk } from './risk.ts';
import {
  type Field,
  lookClosely,
  riskOf,
  type Sentence,
  type SentenceContext,
  type SentenceMaker,
  toSentence,
  unreadable,
} from './sentence.ts';
import { count, say, strong, textOf } from './text.ts';

/** A request in words, as it is answered. */
export type Description = ReturnType<typeof toDescription>;

/** What of an operation its description is made of. */
export interface Described {
  readonly name: string;
  readonly sentence: SentenceMaker<never>;
}

export interface Subject {
  readonly activityId?: string | undefined;
  readonly type: string;
  /** Undefined for types that only the history of an organization holds. */
  readonly operation: Described | undefined;
  /** As the current version of the type has them. */
  readonly parameters: unknown;
}

/** Types that no operation serves and that every history begins with. */
const BOOTSTRAP = /^ACTIVITY_TYPE_CREATE_ORGANIZATION(?:_V[0-9]+)?$/;

/** Long hex is for one request at a time. */
const UNSIGNED_MAX = 64 * 1024;

/** The sentence of a request. It always has one, if only one that says what is missing. */
export function sentenceOf(subject: Subject, context: SentenceContext): Sentence {
  const omitted = omittedBody(subject.parameters);
  if (omitted !== undefined) {
    const title = titleOf(subject);
    return unreadable(
      say`${strong(title)}: the request is missing here. It was denied, and of its ${count(omitted)} bytes only the digest was kept.`,
      'the request was not kept',
      'What this request asked for is not known here any more.',
    );
  }
  const maker = subject.operation?.sentence as SentenceMaker<unknown> | undefined;
  if (maker === undefined) {
    return BOOTSTRAP.test(subject.type)
      ? { parts: say`Create this organization.`, marks: [] }
      : withoutTemplate(subject.type);
  }
  try {
    return toSentence(maker(subject.parameters, context));
  } catch (error) {
    // One that was denied may never have been read, and digests stand in the place of secrets. A list must not fail for it.
    const why = error instanceof ApiError ? error.message : 'parts of the request were not kept';
    return unreadable(
      say`${strong(titleOf(subject))}: this request cannot be read.`,
      `cannot be read: ${why}`,
      'What this request asks for cannot be read here. I want it all the same.',
    );
  }
}

export const withoutTemplate = (type: string): Sentence =>
  lookClosely(
    say`${strong(type.replace(/^ACTIVITY_TYPE_/, ''))}: this console has no sentence for it. Read its fields.`,
    'no sentence for this type',
    'I have read every field of this request and want it.',
  );

function omittedBody(parameters: unknown): number | undefined {
  if (typeof parameters !== 'object' || parameters === null || !('omittedBody' in parameters)) return undefined;
  const { bytes } = (parameters.omittedBody ?? {}) as { readonly bytes?: unknown };
  return typeof bytes === 'number' ? bytes : undefined;
}

const titleOf = ({ operation, type }: Subject): string =>
  toWords(operation?.name ?? type.replace(/^ACTIVITY_TYPE_/, '').replace(/_V[0-9]+$/, ''));

/** `isBrief`: for a list, without the bytes that are signed. */
export function toDescription(subject: Subject, whole: Sentence, isBrief: boolean) {
  const sentence = { ...whole, ...leftOut(whole) };
  const {
    parts,
    marks,
    consequence,
    steps = [],
    fields,
    sender,
    recipients = [],
    bytes,
    quorumChange,
    policyChange,
  } = sentence;
  const risk: Risk = riskOf(sentence);
  const agreed = risk === 'ROUTINE' ? undefined : (consequence ?? 'I have read this request closely and want it.');
  return {
    ...(subject.activityId !== undefined && { activityId: subject.activityId }),
    type: subject.type,
    kind: sentence.kind ?? titleOf(subject),
    sentence: [...parts],
    text: textOf(parts),
    risk,
    marks: marks.filter((mark) => mark.risk !== 'ROUTINE'),
    ...(agreed !== undefined && { consequence: agreed }),
    steps: steps.slice(0, STEPS_MAX).map((step) => ({ sentence: [...step.sentence], risk: step.risk })),
    fields: boundedFields(fields ?? fieldsOf(subject.parameters)).map((field) => ({
      ...field,
      value: [...field.value],
    })),
    ...(sender !== undefined && { sender }),
    // Somebody who is paid twice is one recipient.
    recipients: [...new Map(recipients.map((one) => [one.address, one])).values()].map(
      ({ paidSinceMs, isUnread, ...recipient }) => ({
        ...recipient,
        ...(paidSinceMs !== undefined && { paidSince: toRfc3339(paidSinceMs) }),
        ...(isUnread && { notLookedUp: true }),
      }),
    ),
    ...(bytes !== undefined && !isBrief && { bytes: { ...bytes, unsigned: bounded(bytes.unsigned) } }),
    ...(quorumChange !== undefined && { quorumChange }),
    ...(policyChange !== undefined && { policyChange }),
  };
}

/** What is not told can be anything, so nobody may take it for read. */
function leftOut(sentence: Sentence): Partial<Sentence> {
  const { steps = [], fields = [], marks } = sentence;
  const text =
    steps.length > STEPS_MAX
      ? `${count(steps.length - STEPS_MAX)} of ${count(steps.length)} steps are not told here`
      : steps.length === 0 && fields.length > FIELDS_MAX
        ? `${count(fields.length - FIELDS_MAX)} of ${count(fields.length)} fields are not told here`
        : undefined;
  if (text === undefined) return {};
  return {
    marks: [...marks, { risk: 'UNREADABLE', text }],
    ...(riskOf(sentence) !== 'UNREADABLE' && {
      consequence: 'Not everything in this request is told here. I want it.',
    }),
  };
}

/** More than anybody reads; the bytes have all of it. */
const STEPS_MAX = 200;
const FIELDS_MAX = 300;

const boundedFields = (fields: readonly Field[]): readonly Field[] =>
  fields.length <= FIELDS_MAX
    ? fields
    : [
        ...fields.slice(0, FIELDS_MAX),
        { label: 'More', value: say`${count(fields.length - FIELDS_MAX)} fields: read the bytes`, kind: 'TEXT' },
      ];

/** The request itself has all of it. */
const bounded = (hex: string): string => (hex.length <= UNSIGNED_MAX ? hex : `${hex.slice(0, UNSIGNED_MAX)}…`);
