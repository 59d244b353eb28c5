import { plain, strong, type TextPart } from '../../lib/text-part.ts';
import { type Claim, type Limit, sideOf } from '../compare/implication.ts';
import type { Expression } from '../evaluate/expression.ts';
import type { Node } from '../language/ast.ts';
import type { ExpressionKind } from '../language/checker.ts';
import { conjunctsOf } from '../lint/domain.ts';
import { type Clause, clauseOf, sayCode } from '../words/clauses.ts';
import { contextOfTree, isTokenAmount, isTokenCall, isTokenRecipient, tokenOf } from '../words/context.ts';
import { SENDING_KINDS, sayKind, sayName, sayType } from '../words/kinds.ts';
import { sayNumber, sayValue } from '../words/literals.ts';
import type { Names } from '../words/names.ts';
import { NO_SCOPE, type Subject, subjectOf } from '../words/subjects.ts';
import { joinWords } from '../words/wording.ts';
import type { Risk, SentenceFacts } from './description.ts';

interface Expressions {
  readonly condition: Expression<'condition'> | undefined;
  readonly consensus: Expression<'consensus'> | undefined;
  readonly time: Expression<'time'> | undefined;
}

const CODES_MAX = 3;
const REST_MAX = 6;
const LISTED_MAX = 3;

/** A name or value that somebody wrote, in bold. */
const told = (text: string): TextPart => ({ text, strong: true, userText: true });

/** One conjunct of the condition that the sentence has not spoken of yet. */
interface Piece {
  readonly claim: Claim;
  readonly clause: Clause;
  readonly subject: Subject | undefined;
}

export function sentenceOf(
  effect: string,
  { condition, consensus, time }: Expressions,
  invalid: ReadonlySet<ExpressionKind>,
  names: Names,
): { readonly sentence: TextPart[]; readonly facts: SentenceFacts } {
  const isDeny = effect === 'EFFECT_DENY';
  const who = whoOf(consensus, isDeny, names);
  const what = whatOf(condition, invalid.has('condition'), names);
  const further = [...who.further, ...what.further];
  const sentence: TextPart[] = [...who.subject, plain(who.verb), ...what.action];
  if (what.rest.length > 0) sentence.push(plain(', if '), { text: joinWords(what.rest, 'and'), userText: true });
  if (who.approvals !== undefined)
    sentence.push(plain(isDeny ? ', if approved by: ' : ', with approvals: '), told(who.approvals));
  else if (!isDeny && who.isAlone) sentence.push(plain(', alone'));
  if (time !== undefined) sentence.push(plain(', only while '), told(timeText(time, names)));
  if (further.length > 0) {
    const codes = further.slice(0, CODES_MAX).join(' and ');
    const more = further.length > CODES_MAX ? ` and ${further.length - CODES_MAX} more` : '';
    sentence.push(plain(', under further conditions: '), { text: `${codes}${more}`, userText: true });
  }
  if (invalid.size > 0)
    sentence.push(
      plain(
        `, under ${joinWords(
          [...invalid].map((kind) => `a ${kind}`),
          'and',
        )} that cannot be read`,
      ),
    );
  sentence.push(plain('.'));
  const facts = {
    hasCondition: condition !== undefined || invalid.has('condition'),
    hasConsensus: consensus !== undefined || invalid.has('consensus'),
    sends: what.sends,
    limitsRecipient: what.limitsRecipient,
    limitsAmount: what.limitsAmount,
  };
  return { sentence, facts: { ...facts, risk: riskOf(isDeny, facts, further.length > 0) } };
}

function riskOf(isDeny: boolean, facts: Omit<SentenceFacts, 'risk'>, isPartlyCode: boolean): Risk {
  if (isDeny) return 'ROUTINE';
  if (!facts.hasCondition) return facts.hasConsensus ? 'LOOK_CLOSELY' : 'DANGER';
  const isWide = !facts.hasConsensus || (facts.sends && !facts.limitsRecipient);
  return isWide || isPartlyCode ? 'LOOK_CLOSELY' : 'ROUTINE';
}

function timeText({ tree }: Expression<'time'>, names: Names): string {
  return clauseOf(tree.root, { names, isCall: false }, NO_SCOPE).text;
}

interface Who {
  readonly subject: TextPart[];
  readonly verb: string;
  /** Whether one user of those named suffices. */
  readonly isAlone: boolean;
  readonly approvals?: string;
  readonly further: readonly string[];
}

function whoOf(consensus: Expression<'consensus'> | undefined, isDeny: boolean, names: Names): Who {
  const everyone: Who = isDeny
    ? { subject: [strong('Nobody')], verb: ' may ', isAlone: true, further: [] }
    : { subject: [strong('Anyone')], verb: ' may ', isAlone: true, further: [] };
  if (consensus === undefined) return everyone;
  const side = sideOf(consensus);
  const { root } = consensus.tree;
  const context = contextOfTree(root, conjunctsOf(root), names);
  if (side === undefined) return { ...everyone, isAlone: false, further: [sayCode(root)] };
  const [only, ...others] = side.claims;
  if (only === undefined) return everyone;
  if (others.length === 0 && only.members !== undefined) {
    const { key, allowed } = only.members;
    const values = [...allowed];
    const shown = values.slice(0, LISTED_MAX).map((id) => names.thing(id)?.name ?? id);
    const more = values.length > LISTED_MAX ? [`${values.length - LISTED_MAX} more`] : [];
    const listed = joinWords([...shown, ...more], 'or');
    if (key === 'approvers tags') {
      return { ...everyone, subject: [plain(isDeny ? 'Nobody tagged ' : 'Anyone tagged '), told(listed)] };
    }
    if (key === 'approvers id') {
      return isDeny
        ? { ...everyone, subject: [told(listed)], verb: ' may not ' }
        : { ...everyone, subject: [told(listed)] };
    }
  }
  const clauses = side.claims.map(({ node }) => clauseOf(node, context, NO_SCOPE));
  const understood = clauses.filter(({ isUnderstood }) => isUnderstood).map(({ text }) => text);
  const further = clauses.filter(({ isUnderstood }) => !isUnderstood).map(({ text }) => text);
  return {
    ...everyone,
    isAlone: false,
    ...(understood.length > 0 && { approvals: joinWords(understood, 'and') }),
    further,
  };
}

interface What {
  readonly action: TextPart[];
  /** Conditions in words that have no place of their own. */
  readonly rest: readonly string[];
  /** Conditions that stand as code. */
  readonly further: readonly string[];
  readonly sends: boolean;
  readonly limitsRecipient: boolean;
  readonly limitsAmount: boolean;
}

const ANYTHING: What = {
  action: [strong('do all that a policy can allow')],
  rest: [],
  further: [],
  sends: false,
  limitsRecipient: false,
  limitsAmount: false,
};

function whatOf(condition: Expression<'condition'> | undefined, isInvalid: boolean, names: Names): What {
  if (condition === undefined) return isInvalid ? { ...ANYTHING, action: [plain('do something')] } : ANYTHING;
  const { root } = condition.tree;
  const side = sideOf(condition);
  if (side === undefined) return { ...ANYTHING, further: [sayCode(root)] };
  const context = contextOfTree(
    root,
    side.claims.map(({ node }) => node),
    names,
  );
  const pieces = new Map(
    side.claims.map((claim): [Node, Piece] => {
      const clause = clauseOf(claim.node, context, NO_SCOPE);
      const subject = claim.limit === undefined ? undefined : subjectOf(claim.limit.read, NO_SCOPE);
      return [claim.node, { claim, clause, subject }];
    }),
  );
  /** Takes the one piece that limits a subject so; several stay where they are. */
  const take = (
    isIt: (subject: Subject) => boolean,
    kind: Limit['kind'],
  ): { limit: Limit; subject: Subject } | undefined => {
    const found = [...pieces.values()].filter(
      ({ claim, subject }) => subject !== undefined && claim.limit?.kind === kind && isIt(subject),
    );
    const [piece] = found;
    if (piece === undefined || found.length > 1) return undefined;
    pieces.delete(piece.claim.node);
    return { limit: piece.claim.limit as Limit, subject: piece.subject as Subject };
  };
  const at = (...paths: string[]) => take(({ path }) => paths.includes(path), 'set');
  const said = (found: ReturnType<typeof take>, noun: string): TextPart[] => {
    if (found === undefined) return [];
    const values = [...found.limit.values];
    const text =
      values.length > LISTED_MAX
        ? `one of ${values.length} ${noun}`
        : joinWords(
            values.map((value) => sayValue(value, found.subject, context)),
            'or',
          );
    return [told(text)];
  };

  const kinds = at('activity.kind');
  const types = at('activity.type');
  const resource = at('activity.resource');
  const action = at('activity.action');
  const readsTransaction = /\b(?:eth|solana|tron|bitcoin|tempo)\.tx\b/.test(condition.text);
  const kindNames = [...(kinds?.limit.values ?? [])];
  const typeNames = [...(types?.limit.values ?? [])].map((type) => type.replace(/^ACTIVITY_TYPE_|_V[0-9]+$/g, ''));
  const sends = readsTransaction || [...kindNames, ...typeNames].some((kind) => SENDING_KINDS.has(kind));
  const from = at('wallet.id') ?? at('wallet_account.address') ?? at('private_key.id') ?? at('eth.tx.from');
  const chain = at('eth.tx.chain_id', 'tempo.tx.chain_id', 'activity.params.chain_caip2');
  const place: TextPart[] = [...(from === undefined ? [] : [plain(' from '), ...said(from, 'wallets')])];
  const onChain: TextPart[] = chain === undefined ? [] : [plain(' on '), ...said(chain, 'chains')];

  const named = [...kindNames, ...typeNames];
  const signs = named.length === 0 || named.includes('SIGN_TRANSACTION');
  const broadcasts = named.length === 0 || named.some((kind) => kind !== 'SIGN_TRANSACTION');
  const signed = `${signs ? (broadcasts ? 'sign or send' : 'sign') : 'send'} transactions`;
  let verb: TextPart[];
  let limitsRecipient = false;
  let limitsAmount = false;
  const isPayment = sends && context.functionName === 'transfer' && isTokenCall(context);
  const isOther =
    kindNames.some((kind) => !SENDING_KINDS.has(kind)) || typeNames.some((kind) => !SENDING_KINDS.has(kind));
  if (isPayment && !isOther) {
    at('eth.tx.to');
    at('eth.tx.function_name');
    at('eth.tx.function_signature');
    const amount = take((subject) => isTokenAmount(subject, context), 'max');
    const recipient = take((subject) => isTokenRecipient(subject, context), 'set');
    limitsAmount = amount !== undefined;
    limitsRecipient = recipient !== undefined;
    verb = [
      plain('send '),
      ...(amount === undefined
        ? [strong(`any amount of ${tokenOf(context)?.symbol}`)]
        : [plain('up to '), strong(sayNumber(amount.limit.bound, amount.subject, context)), plain(' a payment')]),
      ...place,
      plain(' to '),
      ...(recipient === undefined ? [strong('any address')] : said(recipient, 'addresses')),
      ...onChain,
    ];
  } else if (sends && !isOther) {
    const called = context.isCall ? at('eth.tx.function_name') : undefined;
    const contract = called === undefined ? undefined : at('eth.tx.to');
    const recipient = called === undefined ? at('eth.tx.to') : contract;
    const amount = take(({ path }) => path === 'eth.tx.value', 'max');
    const data = called === undefined ? take(({ path }) => path === 'eth.tx.data', 'set') : undefined;
    const isPlain = data !== undefined && [...data.limit.values].every((value) => value === '0x' || value === '');
    if (data !== undefined && !isPlain) {
      const piece = side.claims.find(({ limit }) => limit === data.limit);
      if (piece !== undefined)
        pieces.set(piece.node, {
          claim: piece,
          clause: clauseOf(piece.node, context, NO_SCOPE),
          subject: data.subject,
        });
    }
    limitsRecipient = recipient !== undefined || !readsEthereum(condition.text);
    limitsAmount = amount !== undefined;
    const limit = amount && strong(sayNumber(amount.limit.bound, amount.subject, context));
    verb =
      called !== undefined
        ? [
            plain('call '),
            ...said(called, 'functions'),
            plain(' of '),
            ...(contract === undefined ? [strong('any contract')] : said(contract, 'contracts')),
            ...place,
            ...onChain,
            ...(limit === undefined ? [] : [plain(' and send up to '), limit, plain(' with it')]),
          ]
        : [
            ...(isPlain
              ? limit === undefined
                ? [plain('send '), strong('any amount')]
                : [plain('send up to '), limit, plain(' a payment')]
              : limit === undefined
                ? [plain(signed)]
                : [plain(`${signed} of up to `), limit, plain(' each')]),
            ...place,
            plain(' to '),
            ...(recipient === undefined ? [strong('any address')] : said(recipient, 'addresses')),
            ...onChain,
          ];
    if (called === undefined && !readsEthereum(condition.text)) {
      verb = [plain(signed), ...place, ...onChain];
    }
  } else {
    verb = [
      ...otherAction(kinds?.limit, types?.limit, resource?.limit, action?.limit),
      ...(place.length > 0
        ? [
            plain(' with'),
            ...said(from, 'wallets').map((part, index) => (index === 0 ? { ...part, text: ` ${part.text}` } : part)),
          ]
        : []),
      ...onChain,
    ];
  }
  const left = [...pieces.values()];
  const rest = left.filter(({ clause }) => clause.isUnderstood).map(({ clause }) => clause.text);
  if (sends && !isOther && (resource !== undefined || action !== undefined)) {
    rest.push(
      ...[resource, action].flatMap((one) =>
        one === undefined ? [] : [`${one.subject.label} is ${joinWords([...one.limit.values].map(sayName), 'or')}`],
      ),
    );
  }
  // A list of recipients in a shape of its own still limits them.
  const mentionsRecipient = left.some(({ clause }) => /^(?:every |one )?.*\brecipient\b/.test(clause.text));
  return {
    action: verb,
    rest: rest.length > REST_MAX ? [...rest.slice(0, REST_MAX), `${rest.length - REST_MAX} more parts hold`] : rest,
    further: left.filter(({ clause }) => !clause.isUnderstood).map(({ clause }) => clause.text),
    sends: sends && !isOther,
    limitsRecipient: limitsRecipient || mentionsRecipient,
    limitsAmount,
  };
}

const readsEthereum = (text: string): boolean =>
  /\beth\.tx\b/.test(text) || !/\b(?:solana|tron|bitcoin|tempo)\.tx\b/.test(text);

function otherAction(
  kinds: Limit | undefined,
  types: Limit | undefined,
  resource: Limit | undefined,
  action: Limit | undefined,
): TextPart[] {
  const kindWords = [...(kinds?.values ?? [])].map(sayKind);
  const typeWords = [...(types?.values ?? [])].map(sayType);
  const words = kindWords.length > 0 ? kindWords : typeWords;
  const also = kindWords.length > 0 && typeWords.length > 0 ? `, as “${joinWords(typeWords, 'or')}”` : '';
  const objects = [...(resource?.values ?? [])].map((name) => `${sayName(name)}s`);
  const acts = [...(action?.values ?? [])].map(sayName);
  const scope =
    objects.length > 0 || acts.length > 0
      ? `${acts.length === 0 ? 'do anything' : joinWords(acts, 'or')}${acts.includes('sign') ? ' with' : acts.length === 0 ? ' to' : ''} ${objects.length === 0 ? 'anything' : joinWords(objects, 'or')}`
      : undefined;
  if (words.length > 0) {
    const shown =
      words.length > REST_MAX ? [...words.slice(0, REST_MAX), `${words.length - REST_MAX} more kinds`] : words;
    return [
      strong(joinWords(shown, 'or')),
      ...(also === '' ? [] : [plain(also)]),
      ...(scope === undefined ? [] : [plain(`, as far as it is to ${scope}`)]),
    ];
  }
  return [strong(scope ?? 'do all that a policy can allow')];
}
