export {
  type CountedRate,
  openRateCounters,
  type RateCounter,
  type RateCounters,
  rateLimitHeaders,
} from './rate-counters.js';
