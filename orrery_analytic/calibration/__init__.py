"""From logs to machine parameters, with their uncertainty and with what the logs cannot tell."""

from __future__ import annotations

from orrery_analytic.calibration.bounce import add_bounce, fit_bounce
from orrery_analytic.calibration.fitted import Fit
from orrery_analytic.calibration.machine_file import calibrate
from orrery_analytic.calibration.models import MODELS, fit
from orrery_analytic.calibration.tangent import with_rendezvous
from orrery_analytic.calibration.uncertainty import chance, predict_band

__all__ = ["MODELS", "Fit", "add_bounce", "calibrate", "chance", "fit", "fit_bounce", "predict_band", "with_rendezvous"]
