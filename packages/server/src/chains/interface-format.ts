import type { JsonValue } from '../lib/strict-json.ts';

/** Descriptions of contracts that organizations upload, with which policies see the arguments of calls. */
export interface InterfaceFormat<Interface extends { readonly type: string }> {
  readonly type: Interface['type'];
  /** An address as interfaces are looked up by; undefined for a text that is none. */
  canonicalAddress(text: string): string | undefined;
  /** What such a text must be. */
  readonly expectedAddress: string;
  /** Refuses what could not be used later. */
  read(address: string, json: JsonValue): Interface;
}
