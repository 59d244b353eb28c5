/**
 * Something that this process alone may work on until its lease ends. A strategy adds what its writes need to tell this
 * claim from a later one: an owner, an epoch, the end of the lease.
 */
export interface Claim extends Topic {}

/** A name for something that may have work: an endpoint, a paying address, a channel of messages. */
export interface Topic {
  readonly key: string;
  /** The group whose limit it counts against, beside the limit for all. */
  readonly group?: string | undefined;
}
