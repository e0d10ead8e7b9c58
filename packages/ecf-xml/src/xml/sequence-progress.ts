import type { ElementRule } from '../catalogue/element-rules.js';

/** How far a group's elements have come in the schema's sequence. */
export class SequenceProgress {
  readonly seen: boolean[] = [];
  requiredSeen = 0;
  /** How often the element of the present position has stood. */
  count = 0;
  private at = -1;

  constructor(private readonly rule: ElementRule) {}

  /** Takes the next element, or says why it is not allowed here. */
  take(child: ElementRule): 'order' | 'repeat' | null {
    if (child.index < this.at) return this.seen[child.index] && child.max === 1 ? 'repeat' : 'order';
    if (child.index === this.at) {
      if (this.count >= child.max) return 'repeat';
      this.count++;
      return null;
    }
    this.at = child.index;
    this.count = 1;
    this.seen[child.index] = true;
    if (child.required) this.requiredSeen++;
    return null;
  }

  /** Whether the last element of the sequence has been reached. */
  get complete(): boolean {
    return this.at === this.rule.children!.length - 1;
  }

  get currentName(): string {
    return this.rule.children![this.at]?.name ?? '';
  }
}
