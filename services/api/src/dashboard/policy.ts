import { Router, type RequestHandler } from 'express';
import helmet from 'helmet';

/** Nothing inline, and nothing from another server. */
const contentSecurityPolicy = (baseUri: string): NonNullable<Parameters<typeof helmet.contentSecurityPolicy>[0]> => ({
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    fontSrc: ["'self'"],
    baseUri: [baseUri],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
});

const policy = (baseUri: string): RequestHandler =>
  helmet({ contentSecurityPolicy: contentSecurityPolicy(baseUri), strictTransportSecurity: false });

const NO_FEATURES = ['camera', 'geolocation', 'microphone', 'payment', 'usb'].map((name) => `${name}=()`).join(', ');

const noFeatures: RequestHandler = (_request, response, next) => {
  response.setHeader('permissions-policy', NO_FEATURES);
  next();
};

/** What a browser may do with anything under `/dashboard`. Bull Board's document names the base of its addresses. */
export function underPolicy(): Router {
  const router = Router({ caseSensitive: true });
  router.use('/dashboard', policy("'none'"), noFeatures);
  router.use('/dashboard/queues', policy("'self'"));
  return router;
}
