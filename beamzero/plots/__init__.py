"""Pictures in one style: functions that give figures, which their callers save or show."""
