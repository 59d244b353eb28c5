// protocol/policies 6.1. Collects every error instead of stopping at the first: where an expression has several, the
// document does not say which one is reported, and a second implementation is right with any of them.
import type { StaticCode, StaticError } from './codes.ts';
import { parseCron, parseDurationMs } from './cron.ts';
import { type ExpressionField, functionsOf, keywordsOf } from './keywords.ts';
import { fieldsOf } from './structs.ts';
import { isTimeZone } from './time-zone.ts';
import { parseTimestamp } from './timestamp.ts';
import type { CallNode, CompareNode, ListNode, Node, Suffix } from './tree.ts';
import {
  areComparable,
  areOrdered,
  areSameKind,
  canBeDecoded,
  canBeNumber,
  canBeText,
  categoryOf,
  isComparable,
  join,
  type Type,
} from './types.ts';

const BOOL: Type = { kind: 'bool' };
const INT: Type = { kind: 'int' };
const UINT: Type = { kind: 'uint' };
const STRING: Type = { kind: 'string' };
const TIMESTAMP: Type = { kind: 'timestamp' };
const ANY: Type = { kind: 'any' };
const REFUSED: Type = { kind: 'refused' };

type Scope = ReadonlyMap<string, Type>;
type SuffixOf<K extends Suffix['kind']> = Extract<Suffix, { kind: K }>;

/** All errors of a parsed expression, in the order of reading, inner ones first. */
export function checkTree(tree: Node, field: ExpressionField): StaticError[] {
  const checker = new Checker(field);
  const type = checker.typeOf(tree, keywordsOf(field));
  if (type.kind !== 'bool' && type.kind !== 'refused') checker.report('E_NOT_BOOL', tree.column, 'not a bool');
  return checker.errors;
}

class Checker {
  readonly errors: StaticError[] = [];
  readonly #functions: ReadonlyMap<string, number>;

  constructor(field: ExpressionField) {
    this.#functions = functionsOf(field);
  }

  report(code: StaticCode, column: number, detail: string, alternatives: readonly StaticCode[] = []): Type {
    this.errors.push({ code, column, detail, alternatives });
    return REFUSED;
  }

  typeOf(node: Node, scope: Scope): Type {
    switch (node.kind) {
      case 'or':
      case 'and':
        for (const operand of node.operands) this.#expectBool(operand, scope);
        return BOOL;
      case 'not':
        this.#expectBool(node.operand, scope);
        return BOOL;
      case 'compare':
        return this.#compare(node, scope);
      case 'postfix': {
        let type = this.typeOf(node.primary, scope);
        for (const suffix of node.suffixes) type = this.#suffix(type, suffix, scope);
        return type;
      }
      case 'list':
        return this.#list(node, scope);
      case 'call':
        return this.#call(node, scope);
      case 'bool':
        return BOOL;
      case 'integer':
        return INT;
      case 'string':
        return STRING;
      case 'name':
        return scope.get(node.name) ?? this.report('E_UNKNOWN_KEYWORD', node.column, node.name);
    }
  }

  /** A dynamic value does not count as a bool, as at the top of an expression. */
  #expectBool(node: Node, scope: Scope): void {
    const category = categoryOf(this.typeOf(node, scope));
    if (category !== 'bool' && category !== 'refused') this.report('E_TYPE', node.column, 'bool expected');
  }

  #compare({ operator, left, right, column }: CompareNode, scope: Scope): Type {
    const leftType = this.typeOf(left, scope);
    const rightType = this.typeOf(right, scope);
    const fits =
      operator === 'in'
        ? this.#isMember(leftType, rightType)
        : operator === '==' || operator === '!='
          ? areComparable(leftType, rightType)
          : areOrdered(leftType, rightType);
    if (!fits) this.report('E_TYPE', column, `operands of ${operator}`);
    return BOOL;
  }

  #isMember(element: Type, list: Type): boolean {
    if (list.kind === 'list') {
      return list.element.kind === 'nothing' ? isComparable(element) : areSameKind(element, list.element);
    }
    return (list.kind === 'any' || list.kind === 'refused') && areSameKind(element, ANY);
  }

  #list({ items, column }: ListNode, scope: Scope): Type {
    const types = items.map((item) => this.typeOf(item, scope));
    const isDynamic = (type: Type): boolean => type.kind === 'any';
    const known = types
      .filter((type) => !isDynamic(type))
      .reduce<Type | undefined>((element, type) => element && join(element, type), { kind: 'nothing' });
    const hasDynamic = types.some(isDynamic);
    if (known === undefined || (hasDynamic && !canBeDecoded(known))) {
      return this.report('E_TYPE', column, 'elements of different types');
    }
    return { kind: 'list', element: hasDynamic ? ANY : known };
  }

  #suffix(receiver: Type, suffix: Suffix, scope: Scope): Type {
    switch (suffix.kind) {
      case 'field':
        return this.#field(receiver, suffix);
      case 'method':
        return this.#method(receiver, suffix, scope);
      case 'quantifier':
        return this.#quantifier(receiver, suffix, scope);
      case 'index':
        return this.#index(receiver, suffix, scope);
      case 'slice':
        return this.#slice(receiver, suffix, scope);
    }
  }

  #field(receiver: Type, { name, column }: SuffixOf<'field'>): Type {
    if (receiver.kind === 'refused') return REFUSED;
    if (receiver.kind === 'struct') {
      return fieldsOf(receiver.name).get(name)?.type ?? this.report('E_UNKNOWN_FIELD', column, name);
    }
    if (name === 'count' && (receiver.kind === 'list' || receiver.kind === 'any')) return INT;
    return this.report('E_TYPE', column, `.${name} of something that is no struct`, ['E_UNKNOWN_FIELD']);
  }

  #method(receiver: Type, { name, args, column }: SuffixOf<'method'>, scope: Scope): Type {
    const argTypes = args.map((arg) => this.typeOf(arg, scope));
    const isListLike = receiver.kind === 'list' || receiver.kind === 'any' || receiver.kind === 'refused';
    switch (name) {
      case 'count':
        if (args.length !== 0) this.report('E_ARITY', column, name);
        if (!isListLike) this.report('E_TYPE', column, 'count of no list');
        return INT;
      case 'hex_to_uint':
        if (args.length !== 0) this.report('E_ARITY', column, name);
        if (!canBeText(receiver)) this.report('E_TYPE', column, 'hex_to_uint of no string');
        return UINT;
      case 'contains':
        if (args.length !== 1) this.report('E_ARITY', column, name);
        if (!isListLike || !argTypes.every((type) => this.#isMember(type, receiver))) {
          this.report('E_TYPE', column, 'contains of an element that the list cannot have');
        }
        return BOOL;
      default:
        return this.report('E_UNKNOWN_FUNCTION', column, name);
    }
  }

  #quantifier(receiver: Type, { name, variable, body, column }: SuffixOf<'quantifier'>, scope: Scope): Type {
    const element = this.#elementOf(receiver);
    if (element === undefined) this.report('E_TYPE', column, `${name} of no list`);
    this.#expectBool(body, new Map([...scope, [variable, element ?? REFUSED]]));
    if (name !== 'filter') return BOOL;
    if (receiver.kind === 'list') return receiver;
    return element === undefined ? REFUSED : { kind: 'list', element };
  }

  /** What reading from a list gives. */
  #elementOf(list: Type): Type | undefined {
    if (list.kind === 'list') return list.element;
    return list.kind === 'any' || list.kind === 'refused' ? list : undefined;
  }

  #index(receiver: Type, { index, column }: SuffixOf<'index'>, scope: Scope): Type {
    const indexType = this.typeOf(index, scope);
    if (receiver.kind === 'refused') return REFUSED;
    if (receiver.kind === 'map') {
      return canBeText(indexType) ? receiver.element : this.report('E_TYPE', column, 'a key must be a string');
    }
    if (receiver.kind === 'any') {
      if (canBeNumber(indexType) || canBeText(indexType)) return ANY;
      return this.report('E_TYPE', column, 'an index must be a number or a string');
    }
    const result = receiver.kind === 'list' ? this.#elementOf(receiver) : textOnly(receiver);
    if (result === undefined) return this.report('E_TYPE', column, 'not indexable');
    return canBeNumber(indexType) ? result : this.report('E_TYPE', column, 'an index must be a number');
  }

  #slice(receiver: Type, { from, to, column }: SuffixOf<'slice'>, scope: Scope): Type {
    const bounds = [this.typeOf(from, scope), this.typeOf(to, scope)];
    if (!bounds.every(canBeNumber)) this.report('E_TYPE', column, 'bounds must be numbers');
    if (receiver.kind === 'list' || canBeText(receiver)) return receiver;
    return this.report('E_TYPE', column, 'neither list nor string');
  }

  #call({ name, args, column }: CallNode, scope: Scope): Type {
    for (const arg of args) this.typeOf(arg, scope);
    const arity = this.#functions.get(name);
    if (arity === undefined)
      return this.report('E_UNKNOWN_FUNCTION', column, name, isTimeFunction(name) ? [] : ['E_SYNTAX']);
    const result = name === 'Timestamp' ? TIMESTAMP : BOOL;
    if (args.length !== arity) {
      this.report('E_ARITY', column, name, args.length === 0 ? ['E_SYNTAX'] : []);
      return result;
    }
    const texts = args.map((arg) => (arg.kind === 'string' ? arg.value : undefined));
    if (texts.includes(undefined)) {
      const ofFunction: StaticCode[] = name === 'Timestamp' ? ['E_TIMESTAMP'] : ['E_CRON', 'E_DURATION', 'E_TIMEZONE'];
      this.report('E_TYPE', column, 'string literals expected', ofFunction);
      return result;
    }
    this.#checkTimeArguments(name, texts as string[], column);
    return result;
  }

  #checkTimeArguments(name: string, texts: readonly string[], column: number): void {
    const [first, duration, zone] = texts as [string, string, string];
    if (name === 'Timestamp') {
      if (parseTimestamp(first) === undefined) this.report('E_TIMESTAMP', column, first);
      return;
    }
    if (parseCron(first) === undefined) this.report('E_CRON', column, first);
    if (parseDurationMs(duration) === undefined) this.report('E_DURATION', column, duration);
    if (!isTimeZone(zone)) this.report('E_TIMEZONE', column, zone);
  }
}

const isTimeFunction = (name: string): boolean => functionsOf('time').has(name);

const textOnly = (type: Type): Type | undefined => (categoryOf(type) === 'text' ? type : undefined);
