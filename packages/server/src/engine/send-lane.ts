/** The sends of one paying address on one chain. */
export interface SendLaneName {
  readonly caip2: string;
  readonly lane: string;
}
