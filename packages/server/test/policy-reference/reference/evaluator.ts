// Evaluation of a checked tree. Everything is evaluated, from left to right and inside out; the first failure is the
// result. A step is one node, one suffix, or one element that a quantifier, `in` or `contains` visits.
import { RuntimeFailure } from './codes.ts';
import { isWithinSpan, parseCron, parseDurationMs } from './cron.ts';
import { EVALUATION_STEPS_MAX } from './limits.ts';
import { areEqual, areSame, elementAt, hexToUint, itemsOf, order, slice } from './operators.ts';
import { dependsOnRequest, fieldsOf, spellingsOf } from './structs.ts';
import { parseTimestamp } from './timestamp.ts';
import type { CallNode, CompareNode, Node, QuantifierSuffix, Suffix } from './tree.ts';
import type { Type } from './types.ts';
import { type Cell, type JsonObject, readTyped, type Value } from './values.ts';

/** Told about every predicate that a quantifier applied: to which element, and what came out. */
export type PredicateObserver = (quantifier: QuantifierSuffix, element: Value, holds: boolean) => void;

type Scope = ReadonlyMap<string, Cell>;

const NANOSECONDS_PER_MS = 1_000_000n;

export class Evaluator {
  readonly #context: JsonObject;
  readonly #keywords: ReadonlyMap<string, Type>;
  readonly #observe: PredicateObserver;
  #steps = 0;

  constructor(context: JsonObject, keywords: ReadonlyMap<string, Type>, observe: PredicateObserver = () => {}) {
    this.#context = context;
    this.#keywords = keywords;
    this.#observe = observe;
  }

  /** Throws RuntimeFailure. */
  run(tree: Node): boolean {
    return this.#bool(tree, new Map());
  }

  #evaluate(node: Node, scope: Scope): Value {
    this.#step();
    switch (node.kind) {
      case 'or':
        return bool(node.operands.map((operand) => this.#bool(operand, scope)).includes(true));
      case 'and':
        return bool(!node.operands.map((operand) => this.#bool(operand, scope)).includes(false));
      case 'not':
        return bool(!this.#bool(node.operand, scope));
      case 'compare':
        return bool(this.#compare(node, scope));
      case 'postfix': {
        let value = this.#evaluate(node.primary, scope);
        for (const suffix of node.suffixes) value = this.#suffix(value, suffix, scope);
        return value;
      }
      case 'list': {
        const items = node.items.map((item) => this.#evaluate(item, scope));
        return { kind: 'list', items: items.map((item) => () => item) };
      }
      case 'call':
        return this.#call(node);
      case 'bool':
        return bool(node.value);
      case 'integer':
        return { kind: 'number', value: node.value };
      case 'string':
        return { kind: 'text', text: node.value, hex: false };
      case 'name':
        return scope.get(node.name)?.() ?? this.#keyword(node.name);
    }
  }

  #bool(node: Node, scope: Scope): boolean {
    const value = this.#evaluate(node, scope);
    if (value.kind !== 'bool') throw new Error('a checked tree has a bool here');
    return value.value;
  }

  #compare({ operator, left, right }: CompareNode, scope: Scope): boolean {
    const leftValue = this.#evaluate(left, scope);
    const rightValue = this.#evaluate(right, scope);
    switch (operator) {
      case '==':
        return areEqual(leftValue, rightValue);
      case '!=':
        return !areEqual(leftValue, rightValue);
      case 'in':
        return this.#isMember(leftValue, rightValue);
      case '<':
        return order(leftValue, rightValue) < 0;
      case '<=':
        return order(leftValue, rightValue) <= 0;
      case '>':
        return order(leftValue, rightValue) > 0;
      case '>=':
        return order(leftValue, rightValue) >= 0;
    }
  }

  /** Compares with every element, also after a match: there is no short circuit anywhere. */
  #isMember(element: Value, list: Value): boolean {
    return itemsOf(list)
      .map((cell) => {
        this.#step();
        return areSame(element, cell());
      })
      .includes(true);
  }

  #suffix(receiver: Value, suffix: Suffix, scope: Scope): Value {
    this.#step();
    switch (suffix.kind) {
      case 'field':
        return receiver.kind === 'struct' ? this.#field(receiver, suffix.name) : countOf(receiver);
      case 'method':
        if (suffix.name === 'count') return countOf(receiver);
        if (suffix.name === 'hex_to_uint') return hexToUint(receiver);
        return bool(this.#isMember(this.#evaluate(suffix.args[0]!, scope), receiver));
      case 'quantifier':
        return this.#quantifier(receiver, suffix, scope);
      case 'index':
        return elementAt(receiver, this.#evaluate(suffix.index, scope));
      case 'slice':
        return slice(receiver, this.#evaluate(suffix.from, scope), this.#evaluate(suffix.to, scope));
    }
  }

  #quantifier(receiver: Value, suffix: QuantifierSuffix, scope: Scope): Value {
    const kept: Cell[] = [];
    const items = itemsOf(receiver);
    for (const cell of items) {
      this.#step();
      const holds = this.#bool(suffix.body, new Map([...scope, [suffix.variable, cell]]));
      if (holds) kept.push(cell);
      this.#observeIfStruct(suffix, cell, holds);
    }
    if (suffix.name === 'filter') return { kind: 'list', items: kept };
    return bool(suffix.name === 'any' ? kept.length > 0 : kept.length === items.length);
  }

  #observeIfStruct(quantifier: QuantifierSuffix, cell: Cell, holds: boolean): void {
    try {
      const element = cell();
      if (element.kind === 'struct') this.#observe(quantifier, element, holds);
    } catch (error) {
      // An element that cannot be read is no struct; whether that matters is for the predicate to say.
      if (!(error instanceof RuntimeFailure)) throw error;
    }
  }

  #field(receiver: Extract<Value, { kind: 'struct' }>, name: string): Value {
    const field = fieldsOf(receiver.name).get(name);
    if (field === undefined) throw new Error('a checked tree has only known fields');
    for (const spelling of spellingsOf(name)) {
      const raw = receiver.fields[spelling];
      if (raw !== undefined && raw !== null) return readTyped(raw, field.type);
    }
    throw new RuntimeFailure('R_MISSING_FIELD', name, dependsOnRequest(receiver.name));
  }

  #keyword(name: string): Value {
    const type = this.#keywords.get(name);
    if (type === undefined) throw new Error('a checked tree has only known keywords');
    const raw = this.#context[name];
    if (raw === undefined || raw === null) throw new RuntimeFailure('R_MISSING_FIELD', name, true);
    return readTyped(raw, type);
  }

  #call({ name, args }: CallNode): Value {
    const [first, duration, zone] = args.map((arg) => (arg.kind === 'string' ? arg.value : '')) as [
      string,
      string,
      string,
    ];
    if (name === 'Timestamp') return { kind: 'timestamp', nanoseconds: parseTimestamp(first)! };
    const now = this.#field(this.#keyword('time') as Extract<Value, { kind: 'struct' }>, 'now');
    if (now.kind !== 'timestamp') throw new Error('time.now is a timestamp');
    const span = { cron: parseCron(first)!, durationMs: parseDurationMs(duration)!, zone };
    return bool(isWithinSpan(span, Number(now.nanoseconds / NANOSECONDS_PER_MS)));
  }

  #step(): void {
    this.#steps += 1;
    if (this.#steps > EVALUATION_STEPS_MAX) throw new RuntimeFailure('R_LIMIT', 'too many steps');
  }
}

const bool = (value: boolean): Value => ({ kind: 'bool', value });

const countOf = (value: Value): Value => ({ kind: 'number', value: BigInt(itemsOf(value).length) });
