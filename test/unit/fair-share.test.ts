import { shareFairly } from '@undolog/compensator/fair-share';
