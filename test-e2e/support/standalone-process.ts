/** The standalone deployment as its users run it; see the package for how it is started. */
export {
  type Demo as DemoFile,
  type StandaloneProcess as Standalone,
  startStandaloneProcess as startStandalone,
} from '@ecf/standalone/process';
